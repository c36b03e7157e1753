import { z } from 'zod'
import { idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { storable, Text, Timestamp } from '../../list.ts'
import { defineRoute, OPERATE, OPERATORS_READ } from '../../route.ts'

const WORKSPACE_CREATION = ['anyone', 'operators'] as const

export const PlatformSettings = z.object({
  support_contact: z
    .string()
    .nullable()
    .describe('Members of a suspended workspace see it next to the reason. null: none is shown.'),
  workspace_creation: z.enum(WORKSPACE_CREATION).describe('Who can create workspaces.'),
  default_plan: z
    .string()
    .nullable()
    .describe(
      'The plan for new workspaces. null: `self_hosted` for a person who works in a self-hosted workspace, otherwise `free`.',
    ),
  agent_registration: z.boolean().describe('Whether agents can register their own accounts.'),
  agent_registrations_per_day: z
    .int()
    .describe(
      'The maximum number of agent registrations per day (UTC). One network can use at most a tenth of them, and at least one.',
    ),
  terms_version: z.string().describe('The version of the Terms that an agent accepts when it registers.'),
  terms_url: z.string().nullable().describe('The URL of the Terms. null: none are published.'),
  plans: z.array(z.string()).describe('The names of the plans of this installation.'),
  updated_at: Timestamp.nullable(),
  updated_by: idOutput('user').nullable().describe('The operator who changed them last.'),
})

const one = z.object({ settings: PlatformSettings })

export const platformSettings = {
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/settings',
    summary: 'Get the settings of the installation',
    description: 'The settings that operators change while the server runs.',
    ...OPERATORS_READ,
    status: 200,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'workspace',
    path: 'platform/settings',
    summary: 'Change the settings of the installation',
    description: 'Changes the members that are sent, from the next request on, on every node.',
    ...OPERATE,
    status: 200,
    body: z.strictObject({
      support_contact: Text.trim()
        .min(1)
        .max(LIMITS.supportContactCharsMax)
        .nullable()
        .optional()
        .describe('An email address, a URL or a sentence.'),
      workspace_creation: z.enum(WORKSPACE_CREATION).optional(),
      default_plan: Text.min(1).max(100).nullable().optional().describe('A name of plans.json, or null.'),
      agent_registration: PlatformSettings.shape.agent_registration.optional(),
      agent_registrations_per_day: z
        .int()
        .min(0)
        .max(LIMITS.agentRegistrationsPerDayMax)
        .optional()
        .describe('The maximum number of agent registrations per day (UTC).'),
      terms_version: Text.trim().min(1).max(50).optional().describe('The version of the Terms that agents accept.'),
      terms_url: storable(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }))
        .max(2_048)
        .nullable()
        .optional()
        .describe('The URL of the Terms, or null.'),
    }),
    output: one,
  }),
} as const
