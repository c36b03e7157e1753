-- The settings of endpoints over time: no secret and no URL in them.
create table webhook_versions (
  workspace_id uuid not null,
  project_id uuid not null,
  webhook_id uuid not null,
  version integer not null,
  config json not null,
  changed text[] not null,
  restored_from integer,
  actor text not null,
  agent text,
  created_at timestamptz not null,
  primary key (workspace_id, project_id, webhook_id, version),
  foreign key (workspace_id, project_id, webhook_id) references webhooks (workspace_id, project_id, id) on delete cascade
);

-- What there is today is the first version that is known.
insert into webhook_versions (workspace_id, project_id, webhook_id, version, config, changed, actor, created_at)
select workspace_id, project_id, id, version,
       json_build_object(
         'name', name, 'slug', slug, 'dataset', dataset, 'enabled', enabled, 'criteria', criteria, 'mappings', mappings,
         'verification', verification, 'ip_allowlist', ip_allowlist,
         'cors', case when cors_origins is not null then json_build_object('origins', cors_origins) end,
         'handshake', case when handshake = 'none' then json_build_object('kind', handshake)
                           else json_build_object('kind', handshake, 'has_verify_token', verify_token is not null) end,
         'idempotency', idempotency
       ),
       '{}', 'system', updated_at
  from webhooks;
