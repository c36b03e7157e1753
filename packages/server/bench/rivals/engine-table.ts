import { Pool } from 'pg'

/** The table into which the steps of the rivals insert: a row as small as the envelope of a record. */
export async function makeStepTable(connectionString: string): Promise<Pool> {
  const pool = new Pool({ connectionString, max: 10 })
  await pool.query(
    'create table if not exists bench_steps (id bigserial primary key, workflow int not null, step int not null, data text not null)',
  )
  return pool
}

export async function insertStep(pool: Pool, { workflow, step }: { workflow: number; step: number }): Promise<void> {
  await pool.query('insert into bench_steps (workflow, step, data) values ($1, $2, $3)', [workflow, step, DATA])
}

const DATA = JSON.stringify({ made: true })
export const STEPS = 5
