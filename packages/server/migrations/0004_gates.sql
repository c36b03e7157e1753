-- Who may send to an endpoint or with a key: addresses, browser origins, and the question that proves whose the endpoint is.

alter table webhooks
  add column ip_allowlist text[] not null default '{}',
  -- null: pages of any origin may post.
  add column cors_origins text[],
  add column handshake text not null default 'none' check (handshake in ('none', 'hub_challenge', 'url_verification')),
  add column verify_token bytea;

alter table ingest_keys
  add column ip_allowlist text[] not null default '{}';
