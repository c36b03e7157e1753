-- The form of the body of deliveries; null: the envelope, or the payload template.
alter table destinations
  add column body text,
  -- Names of headers of the request that go along; null: none.
  add column forward_headers text[];

-- `data` is the whole payload of a request whose body has another form, such as a form. null with `data`: a mapping made it.
alter table records add column is_whole boolean;
