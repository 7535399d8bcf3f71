module attributes {tspec.level = "x"} {} loc("/dev/zero":1:1)
