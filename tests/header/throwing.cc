// SPDX-License-Identifier: MIT
#include "throwing.h"

#include <stdexcept>

namespace
{
TSN_FINE(thrower, "thrower");
TSN_FINE(shared, "shared");
TSN_COARSE(coarse, "thrower coarse");
TSN_FINE_FAMILY(rows, "thrower rows", 3);

__attribute__((noinline)) void throw_now(uint32_t *thrown)
{
	TSN_SCOPE(tsn_at(rows, 2));
	*thrown = tsn_thread.slot->head.fine - rows.id;
	throw std::runtime_error("thrown");
}

__attribute__((noinline)) void throw_coarse(uint64_t *thrown)
{
	TSN_SCOPE(coarse);
	*thrown = tsn_thread.slot->head.context;
	throw std::runtime_error("thrown");
}
} // namespace

void throwing__unwind(uint32_t *thrown, uint32_t *caught)
{
	try {
		TSN_SCOPE(thrower);
		throw_now(thrown);
	} catch (const std::runtime_error &) {
		*caught = tsn_thread.slot->head.fine;
	}
}

void throwing__unwind_coarse(uint64_t *thrown, uint64_t *caught)
{
	try {
		TSN_SCOPE(coarse);
		throw_coarse(thrown);
	} catch (const std::runtime_error &) {
		*caught = tsn_thread.slot->head.context;
	}
}

tsn_coarse_t throwing__coarse(void)
{
	return coarse;
}

tsn_fine_t throwing__label(void)
{
	return thrower;
}

tsn_fine_t throwing__shared(void)
{
	return shared;
}

const void *throwing__descriptor(void)
{
	return &tsn_process_descriptor;
}

const void *throwing__thread(void)
{
	return &tsn_thread;
}
