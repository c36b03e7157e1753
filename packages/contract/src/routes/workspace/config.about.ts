import type { About } from '../../about.ts'
import { ProjectConfig } from '../../project-config.ts'
import type { config } from './config.ts'

const CONFIGURATION: ProjectConfig = {
  version: 1,
  project: 'shop',
  endpoints: [{ name: 'GitHub', slug: 'github', dataset: 'github', verification: { scheme: 'code_host' } }],
  rules: [{ name: 'Large orders', dataset: 'large_orders', conditions: [{ path: 'total', op: 'gte', value: 1_000 }] }],
}

export const about = {
  text: 'The configuration of a project as one file: export, plan and apply.',
  refusals: {
    plan: ['invalid_url'],
    apply: ['project_changed', 'invalid_url', 'slug_taken', 'name_taken', 'invalid_state'],
  },
  schemas: { ProjectConfig },
  bodies: {
    plan: { config: CONFIGURATION, recent: 100 },
    apply: { config: CONFIGURATION, plan: 'the id of the plan' },
  },
  members: {
    Change: { from: 'orders', to: 'large_orders' },
    Plan: { id: '0f343b0931126a20f133d67c2b018a3b.9f86d081884c7d659a2feaa0c55ad015' },
    ProjectConfig: { project: 'shop', endpoints: CONFIGURATION.endpoints, rules: CONFIGURATION.rules },
  },
} satisfies About<typeof config>
