-- How an endpoint reads bodies, and the list whose items become records; null: an event makes one record.
alter table webhooks
  add column body_as text not null default 'contract' check (body_as in ('contract', 'text', 'xml')),
  add column split json;

-- Earlier versions are shown with the members that they lacked.
update webhook_versions
   set config = regexp_replace(config::text, '\}\s*$', ',"body_as":"contract","split":null}')::json;
