import { readFileSync } from 'node:fs'

/** Log lines of a server with a defect about the planting, before it listens. */
export const PLANTED = 'plant.planted'
export const NOT_PLANTED = 'plant.not_planted'

/** Rejects a run whose defect was not planted: whether it passes or fails, it proves nothing. The server must be listening. */
export function assertPlanted(plant: string, logFile: string): void {
  const lines = readFileSync(logFile, 'utf8').split('\n')
  if (lines.some((line) => line.includes(`"${PLANTED}"`))) return
  const said = lines.find((line) => line.includes(`"${NOT_PLANTED}"`))
  throw new Error(
    `The defect ${plant} could not be planted, so this run proves nothing. ${said === undefined ? 'The server did not say why.' : reasonIn(said)}`,
  )
}

function reasonIn(line: string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a line that planted-server.ts has written
  return (JSON.parse(line) as { readonly why: string }).why
}
