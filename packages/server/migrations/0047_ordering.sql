-- Deliveries of one destination with the same key go one after another, in the order of `order_seq`; null: no order.
alter table destinations add column order_path text;

-- Set with the first path and never taken back: deliveries that were made under it keep their keys.
alter table lanes add column ordered boolean not null default false;

create sequence deliveries_order;
alter table deliveries
  add column order_key uuid,
  add column order_seq bigint;
create index deliveries_ordered on deliveries (workspace_id, destination_id, order_key, order_seq)
  where order_key is not null and state in ('pending', 'sending', 'retrying', 'paused');
