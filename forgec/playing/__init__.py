"""Playing by hand: a person calls the tools of an environment as an agent would, and sees what each call does.

`line` reads what was typed, `session` holds the episodes with what can be undone, `commands` has the commands that
begin with a dot, `play` puts them together; `script` feeds it lines of a file, `terminal` what a person types.
"""
