-- Customer portals (docs/adr/0200): portals, their customers, and the tokens with which customers enter.

alter table credentials drop constraint credentials_kind_check;
alter table credentials add constraint credentials_kind_check
  check (kind in ('webhook_url', 'ingest_key', 'api_key', 'data_key', 'portal_token'));

create table portals (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  slug text not null,
  -- null: every dataset of the project.
  event_types text[],
  branding json not null,
  enabled boolean not null,
  serves text not null check (serves in ('one_customer', 'many_customers')),
  -- Empty: no page of another origin may embed it.
  frame_origins text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, slug)
);
-- The page of a portal is found by its id alone.
create unique index portals_id on portals (id);

create table portal_customers (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  portal_id uuid not null,
  -- The id that the owner of the portal gave the customer.
  customer_id text not null,
  name text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, portal_id, customer_id),
  foreign key (workspace_id, project_id, portal_id) references portals (workspace_id, project_id, id) on delete cascade
);

create table portal_tokens (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  portal_id uuid not null,
  portal_customer_id uuid not null,
  shown_prefix text not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  created_by uuid,
  created_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  foreign key (workspace_id, project_id, portal_customer_id) references portal_customers (workspace_id, project_id, id) on delete cascade
);
create index portal_tokens_of_customer on portal_tokens (workspace_id, project_id, portal_customer_id, id);
create index portal_tokens_of_portal on portal_tokens (workspace_id, project_id, portal_id, id);

-- A destination that a customer owns has its customer, and the text that the customer gave it.
alter table destinations
  add column portal_customer_id uuid,
  add column description text,
  add constraint destinations_portal_customer foreign key (workspace_id, project_id, portal_customer_id)
    references portal_customers (workspace_id, project_id, id);
create index destinations_of_customer on destinations (workspace_id, project_id, portal_customer_id, id) where portal_customer_id is not null;

-- Where an endpoint finds the customer of an event: a header or a path; null: its events name none.
alter table webhooks add column customer json;

-- Versions that are older than the setting had no customer.
update webhook_versions
   set config = regexp_replace(config::text, '\}\s*$', ',"customer":null}')::json;
