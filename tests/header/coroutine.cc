// SPDX-License-Identifier: MIT
/*
 * A C++20 coroutine that waits in one thread and goes on in another keeps its labels, and the
 * execution that it is in. Exit status 0, or 1 and a line on stderr.
 */
#include <coroutine>
#include <exception>
#include <stdio.h>
#include <thread>

#include "inspect.h"

namespace
{
TSN_FINE(parse, "parse");
TSN_FINE(driving, "driving");
TSN_COARSE(request, "request");
TSN_COARSE(query, "query");

int failures;

void expect(bool condition, int line)
{
	if (!condition) {
		fprintf(stderr, "coroutine: line %d\n", line);
		failures++;
	}
}

#define EXPECT(condition) expect((condition), __LINE__)

struct task {
	struct promise_type {
		task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
	std::coroutine_handle<promise_type> handle;
};

/* Takes the labels off the thread that the coroutine leaves and puts them on the one it goes on in.
 */
struct switch_away {
	tsn_saved_t saved;

	bool await_ready() const noexcept
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<>) noexcept
	{
		saved = tsn_suspend();
	}
	void await_resume() noexcept
	{
		tsn_resume(saved);
	}
};

uint32_t own_tid()
{
	return tsn_thread.slot->head.tid;
}

task serve(int depth)
{
	TSN_SCOPE(request);
	const uint64_t own = tsn_capture().context;
	const uint32_t first = own_tid();
	{
		TSN_SCOPE(parse);
		tsn_enter(query);
		co_await switch_away{};
		EXPECT(own_tid() != first);
		EXPECT(tsn_thread.slot->head.fine == parse.id);
		EXPECT(tsn_thread.slot->head.coarse == query.id);
		EXPECT(inspect__context(tsn_thread.slot->head.context)->parent == (uint32_t)own);
		tsn_exit(query);
		co_await switch_away{};
	}
	EXPECT(tsn_thread.slot->head.fine == 0);
	EXPECT(tsn_capture().context == own);
	for (; depth > 0; depth--) {
		TSN_SCOPE(query);
		co_await switch_away{};
	}
	EXPECT(tsn_capture().context == own);
}

/* Goes on with it in a thread of its own, which is as it was afterwards. */
void go_on(task work)
{
	std::thread([work] {
		TSN_SCOPE_N(driving, 0);
		tsn_saved_t saved = tsn_suspend();

		work.handle.resume();
		EXPECT(tsn_capture().context == 0);
		EXPECT(tsn_thread.slot->head.fine == 0);
		tsn_resume(saved);
		EXPECT(tsn_thread.slot->head.fine == driving.id);
	}).join();
}
} // namespace

int main()
{
	task works[] = {serve(1), serve(3)};

	/* In turn, so that threads that come and go meet both. Two waits, and one for each depth.
	 */
	for (int turn = 0; turn < 6; turn++) {
		for (task &work : works) {
			if (!work.handle.done())
				go_on(work);
		}
	}
	for (task &work : works) {
		EXPECT(work.handle.done());
		work.handle.destroy();
	}
	EXPECT(inspect__executions(request.id) == 2);
	EXPECT(inspect__executions(query.id) == 6);
	EXPECT(inspect__open() == 0);
	EXPECT(inspect__all_violations() == 0);
	return failures != 0;
}
