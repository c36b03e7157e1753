-- The ed25519 key that signs deliveries as v1a, sealed; null: none was needed yet. A rotation replaces it with the secret.
alter table destinations
  add column signing_key bytea,
  add column previous_signing_key bytea;
