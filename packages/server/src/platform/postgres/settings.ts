import type { Place } from './place.ts'

// For a small machine: 2 cores, few processes, little memory while idle. Callers may change these.
const TUNED: Readonly<Record<string, string>> = {
  max_connections: '60',
  shared_buffers: '128MB',
  jit: 'off',
  io_method: 'sync',
  max_logical_replication_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_wal_size: '2GB',
  wal_level: 'replica',
  autovacuum_naptime: '15s',
  autovacuum_vacuum_scale_factor: '0.01',
  autovacuum_analyze_scale_factor: '0.02',
  idle_in_transaction_session_timeout: '30s',
  log_checkpoints: 'off',
  timezone: 'UTC',
}

// "201 means durable" depends on these settings, and so does the privacy of the database: nobody may change them.
const FIXED: Readonly<Record<string, string>> = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  listen_addresses: '',
  unix_socket_permissions: '0700',
  logging_collector: 'off',
  log_destination: 'stderr',
  log_line_prefix: '%m [%p] ',
  log_timezone: 'UTC',
}

/** The server's command line for a place. `settings` change the tuning, never durability or privacy. */
export function serverArgs(place: Place, settings: Readonly<Record<string, string>>): string[] {
  // Quoted as in PostgreSQL's list of folders, so that a comma in a path stays a comma.
  const sockets = `"${place.socketDir.replaceAll('"', '""')}"`
  const all = { ...TUNED, ...settings, ...FIXED, unix_socket_directories: sockets, port: '5432' }
  return ['-D', place.folder, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}
