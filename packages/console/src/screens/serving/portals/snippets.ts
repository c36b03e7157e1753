import { curlCommand } from '@postroad/contract/quoting'
import type { Portal } from '../../../data/lists.ts'

type Asked = { readonly portal: Pick<Portal, 'id' | 'url'>; readonly projectId: string }

/** The code that gives customers the portal: the element in a page, the route of the product that mints its token, and a link. */
export function snippetsOf({ portal: { id, url }, projectId }: Asked) {
  const { origin } = new URL(url)
  const path = `/admin/api/projects/${projectId}/portals/${id}/tokens`
  return {
    'In a page': `<script type="module" src="${origin}/portal/embed.js"></script>

<postroad-portal
  src="${url}"
  token-url="/api/portal-token"
></postroad-portal>`,
    'The token': `// Your server, for the customer who is signed in
app.post('/api/portal-token', async (request, response) => {
  const tokens = '${origin}${path}'
  const answer = await fetch(tokens, {
    method: 'POST',
    headers: {
      Authorization: \`Bearer \${process.env.SERVICE_TOKEN}\`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({
      customer_id: request.user.accountId,
      expires_in: 28800,
    }),
  })
  const { token } = await answer.json()
  response.json({ token })
})`,
    'A link': curlCommand({
      url: `${origin}${path}`,
      method: 'POST',
      headers: { Authorization: ['Bearer ', { variable: 'SERVICE_TOKEN' }], 'content-type': 'application/json' },
      body: JSON.stringify({ customer_id: 'acct_42', customer_name: 'Northwind Traders' }),
    }),
  } as const
}

export type Way = keyof ReturnType<typeof snippetsOf>
