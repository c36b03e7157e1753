import { curlCommand, type ShellPart } from '@postroad/contract/quoting'
import { cli } from '../../../parts/commands.ts'

/** The uses of a key. `key` is the key itself while it is shown, else the shell variable with it. */
export function commandsOf(key: ShellPart, projectId: string | null) {
  const path = projectId === null ? 'projects' : `projects/${projectId}/webhooks`
  return {
    curl: curlCommand({
      url: `${location.origin}/admin/api/${path}`,
      headers: { Authorization: ['Bearer ', key] },
    }),
    CLI: [
      `export POSTROAD_URL=${location.origin}`,
      `export SERVICE_TOKEN=${typeof key === 'string' ? key : `"$${key.variable}"`}`,
      cli(projectId === null ? 'projects list' : `endpoints list --project ${projectId}`),
    ].join('\n'),
    MCP: JSON.stringify(
      {
        mcpServers: {
          postroad: {
            type: 'http',
            url: `${location.origin}/mcp`,
            headers: { Authorization: `Bearer ${typeof key === 'string' ? key : `\${${key.variable}}`}` },
          },
        },
      },
      null,
      2,
    ),
  } as const
}

export type Use = keyof ReturnType<typeof commandsOf>
