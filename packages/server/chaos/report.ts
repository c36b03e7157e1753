import { seconds, type Report } from './figures.ts'

/** The report for people: promises with their verdicts, figures, and the command to repeat the run. */
export function reportText(report: Report): string {
  const { findings, figures, stopped } = report
  const width =
    Math.max(
      ...[...findings.map((finding) => finding.check), ...figures.map((one) => one.figure)].map((name) => name.length),
    ) + 2
  const lines = [
    '',
    ...findings.map(
      ({ check, found, allowed, ok }) => `  ${check.padEnd(width)} ${bound(found, allowed).padEnd(34)} ${verdict(ok)}`,
    ),
    '',
    ...figures.map(({ figure, value, limit, ok }) =>
      `  ${figure.padEnd(width)} ${value.padEnd(34)} ${limit === '' ? '' : `${verdict(ok)}  (${limit})`}`.trimEnd(),
    ),
    '',
    ...findings.flatMap(({ check, ok, examples }) => (ok ? [] : examples.map((example) => `  ${check}: ${example}`))),
    ...(stopped === null ? [] : [`  Stopped early: ${stopped}`]),
    `  ${report.ok ? 'Every promise held' : 'A promise was BROKEN'}: ${title(report)}, ${seconds(report.tookMs)}`,
    `  Again: ${report.repeat}   (the same blows and bodies; their timing is the machine's)`,
    '',
  ]
  return lines.join('\n')
}

function title({ scenario, seed, plant }: Report): string {
  return `${scenario}, seed ${seed}${plant === null ? '' : `, with ${plant} planted`}`
}

function bound(found: number, allowed: number): string {
  return allowed === 0 ? String(found) : `${found} of ${allowed}`
}

function verdict(ok: boolean): string {
  return ok ? 'ok' : 'BROKEN'
}
