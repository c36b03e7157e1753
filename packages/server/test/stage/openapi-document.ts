import { world } from './admin-asking.ts'

type Operation = {
  operationId: string
  summary: string
  description: string
  parameters: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}
export type OpenApi = {
  openapi: string
  info: object
  servers: { url: string }[]
  components: { schemas: Record<string, object> }
  paths: Record<string, Record<string, Operation>>
}

/** /openapi.json as it is served. */
export async function openapi(): Promise<OpenApi> {
  return (await (await fetch(`${world.baseUrl}/openapi.json`)).json()) as OpenApi
}
