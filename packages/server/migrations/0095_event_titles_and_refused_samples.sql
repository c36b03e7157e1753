-- Where an endpoint finds the title of an event, and one redacted sample for each cause of a refusal (docs/adr/0085, 0086).
alter table webhooks
  add column event_title json,
  add column refused_samples boolean not null default true;

-- Settings of before are shown with the members that they lacked.
update webhook_versions
   set config = regexp_replace(config::text, '\}\s*$', ',"event_title":null,"refused_samples":true}')::json;

create table refused_samples (
  workspace_id uuid not null,
  project_id uuid not null,
  webhook_id uuid not null,
  reason text not null,
  at timestamptz not null,
  source_ip text,
  method text not null,
  -- The names alone are stored when the sender had not proven its signature: headers and body are null then.
  header_names text[] not null,
  -- How the headers of a signature were formed, by name: `t=<10 digits>,v1=<64 hex>`.
  signature_forms json not null,
  -- What refused the signature; null: something else refused the request.
  scheme text,
  failed_step text,
  detail text,
  headers json,
  body text,
  body_size integer,
  primary key (workspace_id, project_id, webhook_id, reason),
  foreign key (workspace_id, project_id, webhook_id) references webhooks (workspace_id, project_id, id) on delete cascade
);
create index refused_samples_at on refused_samples (at);
