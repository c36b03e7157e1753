/** The settings of a source that nothing can read. */
export const DATABASE = {
  kind: 'postgres',
  connection: 'postgres://reader:canary-password@127.0.0.1:9/shop',
  tls: { mode: 'off' },
  query: 'select id, at from orders',
  cursor_column: 'at',
  key_column: 'id',
}
