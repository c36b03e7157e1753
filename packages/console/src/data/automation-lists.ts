import type { RouteAnswer, Routes } from '@postroad/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { useAsk } from './ask.ts'
import { every } from './lists.ts'

export type Workflow = RouteAnswer<Routes['workflows']['list']>['workflows'][number]
export type WorkflowInstance = RouteAnswer<Routes['workflowInstances']['list']>['instances'][number]
export type AiAgent = RouteAnswer<Routes['aiAgents']['list']>['ai_agents'][number]
export type AiProvider = RouteAnswer<Routes['aiProviders']['list']>['ai_providers'][number]
export type AiTrigger = RouteAnswer<Routes['triggers']['list']>['triggers'][number]

const PAGE = { limit: 200 } as const

export function useAllWorkflows(): UseQueryResult<readonly Workflow[]> {
  return useAsk(['workflows', 'all'], (client, signal) => every(client.workflows.list(PAGE, { signal })))
}

export function useAllAgents(): UseQueryResult<readonly AiAgent[]> {
  return useAsk(['aiAgents', 'all'], (client, signal) => every(client.aiAgents.list(PAGE, { signal })))
}

export function useAllProviders(): UseQueryResult<readonly AiProvider[]> {
  return useAsk(['aiProviders', 'all'], (client, signal) => every(client.aiProviders.list(PAGE, { signal })))
}

export function useAllAiTriggers(): UseQueryResult<readonly AiTrigger[]> {
  return useAsk(['triggers', 'all'], (client, signal) => every(client.triggers.list(PAGE, { signal })))
}
