import { useMemo } from 'react'
import { isObject } from '../../../parts/preview.ts'
import type { EventRow } from './rows.ts'

const LOOKED_AT = 60
const DEPTH_MAX = 4
const PATHS_MAX = 200

/** The paths of the newest payloads, as choices for a filter. */
export function usePaths(rows: readonly EventRow[]): readonly string[] {
  return useMemo(() => {
    const paths = new Set<string>()
    for (const row of rows.slice(0, LOOKED_AT)) if (row.kind === 'record') collect(paths, row.record.data, [])
    return [...paths].toSorted().slice(0, PATHS_MAX)
  }, [rows])
}

function collect(paths: Set<string>, value: unknown, at: readonly string[]): void {
  if (!isObject(value) || at.length >= DEPTH_MAX) return
  for (const [key, child] of Object.entries(value)) {
    const path = [...at, key.replaceAll('\\', '\\\\').replaceAll('.', String.raw`\.`)]
    if (isObject(child)) collect(paths, child, path)
    else paths.add(path.join('.'))
  }
}
