-- What is sent in place of the envelope; JSON whose strings are templates.
alter table destinations add column payload_template json;
