import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { Answer, World } from './harness.ts'

/** The log of rejected requests, as its readers see it. */

export const MINUTE_MS = 60_000

export type Row = Answer['body']

/** Starts early in a minute, so that the end of a minute does not divide a test. */
export function aNewMinute(world: World): void {
  world.clock.set((Math.floor(world.clock.now() / MINUTE_MS) + 1) * MINUTE_MS)
}

export async function listed(
  world: World,
  query: Record<string, string> = {},
  project = world.installed.project.id,
): Promise<Row[]> {
  const answer = await world.admin('GET', `projects/${project}/rejections?${new URLSearchParams(query).toString()}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.rejections
}

/** Writes the counts of this process. Returns the rows that match these filters; they must count this many requests. */
export async function logged(world: World, count: number, query: Record<string, string>): Promise<Row[]> {
  await world.quiet()
  await world.run('rejections.flush')
  const rows = await listed(world, query)
  assert.equal(
    rows.reduce((sum, row) => sum + row.count, 0),
    count,
  )
  return rows
}

/** An endpoint that verifies, and the signature of a sender `age` seconds ago. */
export const SIGNED = { verification: { scheme: 'payments_provider', secret: 'k' } }
export const signedAt = (world: World, age: number): string => {
  const t = Math.floor(world.clock.wall() / 1_000) - age
  return `t=${t},v1=${createHmac('sha256', 'k').update(`${t}.{}`).digest('hex')}`
}
