import type { Deps } from '../../../context.ts'

/** The resource that access tokens are for (contract part 5). */
export const audienceOf = ({ baseUrl }: Pick<Deps, 'baseUrl'>): string => `${baseUrl()}/mcp`
