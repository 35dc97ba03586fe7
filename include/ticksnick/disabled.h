/* SPDX-License-Identifier: MIT */
/*
 * disabled.h - the API where it compiles to nothing: arguments are evaluated and type-checked.
 * Included by ticksnick.h.
 */
#ifndef TICKSNICK_DISABLED_H
#define TICKSNICK_DISABLED_H

#ifdef __cplusplus
extern "C" {
#endif

#define TSN_DEFINE(type, identifier, registration) \
	static const __attribute__((unused)) type identifier = {0, 0}

#define TSN_SCOPE_VARIABLE(type, leave) \
	__attribute__((unused)) type TSN_JOIN(tsn_scope_, __COUNTER__)

#define TSN_KEEP(x) ((void)(x))

TSN_INLINE tsn_scope_t tsn_fine_scope(tsn_fine_t op, uint64_t n)
{
	tsn_scope_t scope = {0, 0, 0};

	(void)op;
	(void)n;
	return scope;
}

TSN_INLINE tsn_scope_t tsn_coarse_scope(tsn_coarse_t op)
{
	tsn_scope_t scope = {0, 0, 0};

	(void)op;
	return scope;
}

TSN_INLINE tsn_scope_t tsn_mount(tsn_context_t context)
{
	tsn_scope_t scope = {0, 0, 0};

	(void)context;
	return scope;
}

TSN_INLINE tsn_fine_t tsn_register_fine(const char *name)
{
	tsn_fine_t none = {0, 0};

	(void)name;
	return none;
}

TSN_INLINE tsn_fine_t tsn_register_idle(const char *name)
{
	return tsn_register_fine(name);
}

TSN_INLINE tsn_fine_t tsn_register_fine_family(const char *name, uint32_t arity)
{
	(void)arity;
	return tsn_register_fine(name);
}

TSN_INLINE tsn_coarse_t tsn_register_coarse(const char *name)
{
	tsn_coarse_t none = {0, 0};

	(void)name;
	return none;
}

TSN_INLINE tsn_coarse_t tsn_register_coarse_family(const char *name, uint32_t arity)
{
	(void)arity;
	return tsn_register_coarse(name);
}

TSN_INLINE tsn_fine_t tsn_fine_at(tsn_fine_t family, uint64_t index)
{
	(void)index;
	return family;
}

TSN_INLINE tsn_coarse_t tsn_coarse_at(tsn_coarse_t family, uint64_t index)
{
	(void)index;
	return family;
}

TSN_INLINE void tsn_fine_enter(tsn_fine_t op)
{
	(void)op;
}

TSN_INLINE void tsn_fine_exit(tsn_fine_t op)
{
	(void)op;
}

TSN_INLINE void tsn_coarse_enter(tsn_coarse_t op)
{
	(void)op;
}

TSN_INLINE void tsn_coarse_exit(tsn_coarse_t op)
{
	(void)op;
}

TSN_INLINE tsn_context_t tsn_capture(void)
{
	tsn_context_t none = {0, 0, 0};

	return none;
}

TSN_INLINE int tsn_expect_balanced(void)
{
	return 0;
}

TSN_INLINE void tsn_release_thread(void)
{
}

TSN_INLINE tsn_saved_t tsn_suspend(void)
{
	tsn_saved_t saved;

	saved.depth = 0;
	saved.levels_open = 0;
	return saved;
}

TSN_INLINE void tsn_resume(tsn_saved_t saved)
{
	(void)saved;
}

#ifndef _WIN32
TSN_INLINE int tsn_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				  void *(*run)(void *), void *argument)
{
	return pthread_create(thread, attributes, run, argument);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
