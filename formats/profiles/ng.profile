# This project's own rules: docs/semantics.md as it stands. It pins nothing, so
# a check runs every rounding, overflow rule, scale mode and headroom.
version  1
source   docs/semantics.md
