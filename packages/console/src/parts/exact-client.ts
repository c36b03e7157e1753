import type { Client } from '@postroad/sdk'
import { useMemo } from 'react'
import { newClient } from '../data/client.ts'
import { usePlace } from '../data/place.ts'
import { readJson } from '@postroad/contract/raw-number'

/** A client whose answers preserve every digit of their numbers, so that payloads are shown and exported as they arrived. */
export function useExactClient(): Client {
  const { project } = usePlace()
  return useMemo(() => newClient(project.id, readJson), [project.id])
}
