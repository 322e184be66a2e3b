# SPDX-License-Identifier: Apache-2.0
dist_man_MANS += %D%/narrowgauge.1

EXTRA_DIST += \
	%D%/completion/narrowgauge.bash \
	%D%/cases.md \
	%D%/example_cuda.cu \
	%D%/example_exec.py \
	%D%/example_numpy.py \
	%D%/example_subject.c \
	%D%/example_triton.py \
	%D%/gate.md \
	%D%/profiles.md \
	%D%/subjects.md \
	%D%/vectors.md \
	%D%/semantics.md

# bash-completion loads a file that is named after the command.
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(bashcompdir)'
	$(INSTALL_DATA) $(srcdir)/%D%/completion/narrowgauge.bash \
	    '$(DESTDIR)$(bashcompdir)/narrowgauge'
uninstall-local:
	rm -f '$(DESTDIR)$(bashcompdir)/narrowgauge'
