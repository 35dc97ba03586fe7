# SPDX-License-Identifier: MIT
# docs/report.schema.json against what is written, and docs/output.md against what is said.
. "$(dirname "$0")/lib.sh"

DATA=$TOP/tests/data
SCHEMA=$TOP/docs/report.schema.json
PYTHON=/usr/bin/python3

what_is_written_is_as_the_schema_says() {
	need_validator
	run "$TICKSNICK" report -f json -o written.json "$DATA/$1.json"
	assert_exit 0
	check_schema "$SCHEMA" written.json complete
}

# Each edit makes a report that the schema must not accept, or the test above would show nothing.
the_schema_refuses_what_is_wrong() {
	need_validator
	sed "$1" "$DATA/server.json" >wrong.json
	! cmp -s "$DATA/server.json" wrong.json || fail "the edit changed nothing"
	run "$PYTHON" -c 'import json, sys, jsonschema
schema, report = (json.load(open(name)) for name in sys.argv[1:])
sys.exit(3 if list(jsonschema.Draft202012Validator(schema).iter_errors(report)) else 0)' "$SCHEMA" wrong.json
	assert_exit 3
}

the_schema_is_in_the_documentation() {
	assert_contains "report.schema.json" "$TOP/docs/output.md"
}

each_loss_counter_is_explained() {
	sed -n '/^  "losses": {/,/}/s/^    "\([a-z_]*\)".*/\1/p' "$DATA/empty.json" >names
	[ "$(wc -l <names)" -ge 12 ] || fail "found $(wc -l <names) counters only"
	while read -r name; do
		grep -q "^| \`$name\` |" "$TOP/docs/output.md" ||
			fail "docs/output.md does not explain the counter $name"
	done <names
}

# The codes are the string after profile__warn(profile, and those in tables of warnings.
each_warning_is_explained() {
	{
		cat "$TOP"/user/*.c | tr -d '\n' | grep -oE 'profile__warn\([[:space:]]*profile,[[:space:]]*"[a-z_]+"' |
			grep -oE '"[a-z_]+"'
		sed -n '/violation_warnings\[\]/,/^};/p' "$TOP/user/collect.c" | grep -oE '"(violation_)?[a-z]+_[a-z]+"'
	} | tr -d '"' | sort -u >names
	[ "$(wc -l <names)" -ge 15 ] || fail "found $(wc -l <names) codes only"
	while read -r name; do
		grep -q "^| \`$name\` |" "$TOP/docs/output.md" ||
			fail "docs/output.md does not explain the warning $name"
	done <names
}

for sample in server nasty empty; do
	test_case what_is_written_is_as_the_schema_says $sample
done
test_case the_schema_refuses_what_is_wrong 's|report/1|report/2|'
test_case the_schema_refuses_what_is_wrong 's|"calls": 3,|"calls": -3,|'
test_case the_schema_refuses_what_is_wrong 's|"hits": 29614|"hits": 1.5|'
test_case the_schema_refuses_what_is_wrong 's|"share": 0.3112|"share": 31.12|'
test_case the_schema_refuses_what_is_wrong 's|"label": "parseRecord"|"name": "parseRecord"|'
test_case the_schema_refuses_what_is_wrong 's|"executions": 4,|"executions": -4,|'
test_case the_schema_refuses_what_is_wrong 's|"p50_ns": 402,|"p50_ns": 0,|'
test_case the_schema_refuses_what_is_wrong 's|"buckets_per_octave": 1024,|"buckets_per_octave": 64,|'
test_case the_schema_refuses_what_is_wrong 's|"coarse": "checkpoint",|"label": "checkpoint",|'
test_case the_schema_is_in_the_documentation
test_case each_loss_counter_is_explained
test_case each_warning_is_explained
