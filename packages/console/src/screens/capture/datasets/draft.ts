import type { Dataset } from '../../../data/serving-lists.ts'

export type SettingsDraft = { readonly description: string; readonly days: string }

export const NEW_SETTINGS: SettingsDraft = { description: '', days: '' }

export function draftOfDataset({ description, retention_days }: Dataset): SettingsDraft {
  return { description: description ?? '', days: retention_days === null ? '' : String(retention_days) }
}

export function settingsOf({ description, days }: SettingsDraft): {
  readonly body: { readonly description: string | null; readonly retention_days: number | null }
} {
  return {
    body: {
      description: description.trim() === '' ? null : description.trim(),
      retention_days: days.trim() === '' ? null : Number(days),
    },
  }
}
