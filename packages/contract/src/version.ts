/** The dated versions of the admin API and `/mcp` that this release serves; the first is the current one (contract part 9). */
export const SERVICE_VERSIONS = ['2026-09-29'] as const
export const SERVICE_VERSION = SERVICE_VERSIONS[0]
