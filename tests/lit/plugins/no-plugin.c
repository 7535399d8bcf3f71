// A library that is no plugin.
int not_a_plugin(void);

int not_a_plugin(void) {
  return 0;
}
