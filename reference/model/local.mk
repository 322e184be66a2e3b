# SPDX-License-Identifier: Apache-2.0
# The model: configuration, recipes, layers over a backend.
libnarrowgauge_la_SOURCES += \
	%D%/model.h \
	%D%/recipe.h
