import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { DatasetName, ListQuery, listOf, Text, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const Dataset = z.object({
  id: idOutput('dataset'),
  name: z.string(),
  description: z.string().nullable(),
  created_at: Timestamp,
})

const at = z.object({ id: idInput('dataset') })
const Description = Text.max(1_000).nullable()
const one = z.object({ dataset: Dataset })

export const datasets = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'datasets',
    summary: 'List datasets',
    description: 'The datasets of the project, newest first. The first event that names a new dataset creates it too.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('datasets', Dataset),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'datasets',
    summary: 'Create a dataset',
    description: 'Creates a dataset before its first event. The name identifies it and cannot change.',
    ...WRITE,
    status: 201,
    body: z.strictObject({ name: DatasetName, description: Description.default(null) }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'datasets/{id}',
    summary: 'Get a dataset',
    description: 'One dataset of the project.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'datasets/{id}',
    summary: 'Change the description of a dataset',
    description: 'Replaces the description; null removes it.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({ description: Description }),
    output: one,
  }),
} as const
