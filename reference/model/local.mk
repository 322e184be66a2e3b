# SPDX-License-Identifier: Apache-2.0
# The model: configuration, recipes, layers over a backend; and the operations
# with which the reference backend fills its table.
libnarrowgauge_la_SOURCES += \
	%D%/head.c \
	%D%/layer.c \
	%D%/layer_attention.c \
	%D%/layer_ffn.c \
	%D%/model.c \
	%D%/model_bytes.c \
	%D%/model_config.c \
	%D%/model_count.c \
	%D%/model_end.c \
	%D%/model_explain.c \
	%D%/model_linear.c \
	%D%/model_list.c \
	%D%/model_parameters.c \
	%D%/model_pass.c \
	%D%/model_step.c \
	%D%/model_own.c \
	%D%/moe_backward.c \
	%D%/moe_exchange.c \
	%D%/moe_forward.c \
	%D%/own_operation.c \
	%D%/pretrained.c \
	%D%/recipe.c \
	%D%/recipe_parse.c \
	%D%/ref_attention.c \
	%D%/ref_codes.c \
	%D%/ref_columns.c \
	%D%/ref_convert_array.c \
	%D%/ref_cross_entropy.c \
	%D%/ref_embedding.c \
	%D%/ref_fp8_product.c \
	%D%/ref_gate.c \
	%D%/ref_linear.c \
	%D%/ref_mla_join.c \
	%D%/ref_product.c \
	%D%/ref_rmsnorm.c \
	%D%/ref_rope.c \
	%D%/ref_rows.c \
	reference/moe/ref_combine.c \
	reference/moe/ref_permutation.c \
	reference/moe/ref_router.c \
	reference/train/comm_self.c \
	reference/train/tree_sum.c

# Not installed.
libnarrowgauge_la_SOURCES += \
	%D%/model.h \
	%D%/model_bytes.h \
	%D%/model_parts.h \
	%D%/moe_parts.h \
	%D%/own_operation.h \
	%D%/pretrained.h \
	%D%/recipe.h \
	%D%/recipes_table.h \
	%D%/ref_codes.h \
	%D%/ref_convert_array.h \
	%D%/ref_exp.h \
	%D%/ref_lanes.h \
	%D%/ref_linear.h \
	%D%/ref_model_operations.h \
	%D%/ref_rows.h \
	%D%/ref_views_array.h \
	reference/train/tree_sum.h

# ---- recipes, embedded as text -------------------------------------------------
ng_recipes = \
	configs/recipes/bf16.recipe \
	configs/recipes/fp8.recipe \
	configs/recipes/mxfp4.recipe

EXTRA_DIST += \
	$(ng_recipes) \
	configs/names/deepseek-v3.names
BUILT_SOURCES += %D%/recipes_table.c
CLEANFILES += %D%/recipes_table.c
nodist_libnarrowgauge_la_SOURCES += %D%/recipes_table.c

%D%/recipes_table.c: $(ng_recipes) %D%/local.mk build-aux/embed_profiles.sh
	$(AM_V_GEN)$(MKDIR_P) $(@D)
	$(AM_V_at)(cd $(srcdir) && $(SHELL) build-aux/embed_profiles.sh recipe $(ng_recipes)) >$@.tmp
	$(AM_V_at)mv $@.tmp $@

# ---- tests -----------------------------------------------------------------------
if HAVE_CHECK
check_PROGRAMS += \
	conformance/checks/test_backend_refusals_moe \
	conformance/checks/test_backend_refusals_products \
	conformance/checks/test_backend_refusals_rows \
	conformance/checks/test_backend_refusals_step \
	conformance/checks/test_model_exact \
	conformance/checks/test_model_gradients \
	conformance/checks/test_model_gradients_moe \
	conformance/checks/test_model_moe \
	conformance/checks/test_model_own \
	conformance/checks/test_model_recipe \
	conformance/checks/test_model_refusals \
	conformance/checks/test_model_refusals_files \
	conformance/checks/test_model_refusals_memory \
	conformance/checks/test_model_refusals_ranks \
	conformance/checks/test_model_step \
	conformance/checks/test_traps_model \
	conformance/checks/test_pretrained
if HAVE_MPFR
check_PROGRAMS += \
	conformance/checks/test_model_bounds \
	conformance/checks/test_model_gate
endif
endif
EXTRA_DIST += \
	conformance/checks/backend_refusals.h \
	conformance/checks/gradient_fixture.h \
	conformance/checks/model_fixture.h \
	conformance/checks/model_refusals.h \
	conformance/checks/model_ranks.h
