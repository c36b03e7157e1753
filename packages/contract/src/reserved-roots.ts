/** First path segments that never reach ingest, so no workspace may have one as its slug (contract part 4, ingest rule 2). */
export const RESERVED_ROOTS: ReadonlySet<string> = new Set([
  'api', 'admin', 'v1', 'assets', 'settings', 'favicon.ico', 'robots.txt', 'sitemap.xml', 'index.html', 'app.js',
  'styles.css', 'export.js', 'portal', 'brand', 'trial-info', '.well-known', 'mcp', 'stripe',
  'healthz', 'readyz', 'metrics', 'openapi.json', 'docs', 'oauth', 'sign-in', 'account', 'invites',
])
