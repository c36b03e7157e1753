import { z } from 'zod'
import { idOutput } from '../../ids.ts'
import { ListQuery, listOf, Timestamp } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'

export const BROADCAST_SEVERITIES = ['info', 'warning', 'critical'] as const

/** An announcement as members read it. */
export const Broadcast = z.object({
  id: idOutput('broadcast'),
  title: z.string(),
  text: z.string().describe('Plain text. Line breaks are preserved. Markup is not interpreted.'),
  severity: z.enum(BROADCAST_SEVERITIES),
  active: z.boolean().describe('false: it has ended.'),
  created_at: Timestamp,
  ends_at: Timestamp.nullable().describe('null: it has no end.'),
})

export const broadcasts = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'broadcasts',
    summary: 'List announcements',
    description: 'The announcements for this workspace, newest first. Withdrawn announcements are not included.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('broadcasts', Broadcast),
  }),
} as const
