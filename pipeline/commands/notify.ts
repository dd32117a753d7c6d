import type { PipelineConfig } from '../base/config.ts'
import { isInterrupt, reasonOf } from '../base/errors.ts'
import { notificationOf } from '../operation/notification.ts'
import { readPublished } from '../operation/published.ts'
import type { BuildRecord } from '../operation/record-build.ts'
import type { WebhookOptions } from '../publication/webhook.ts'
import { withInterrupt } from './interrupt.ts'

/**
 * Tells NOTIFY_URL, if it is set, what became of a build. It changes nothing about the build: what goes wrong here goes to
 * `warn`, and an interrupt only ends this.
 */
export async function notify(
  { notifyUrl, publicDir }: Pick<PipelineConfig, 'notifyUrl' | 'publicDir'>,
  record: BuildRecord | undefined,
  warn: (text: string) => void,
  options: Omit<WebhookOptions, 'signal'> = {},
): Promise<void> {
  if (notifyUrl === undefined || record === undefined) return
  const published = await readPublished(publicDir).catch(() => undefined)
  const notification = notificationOf(record, published)
  if (notification === undefined) return
  try {
    const { postJson } = await import('../publication/webhook.ts')
    await withInterrupt((signal) => postJson(notifyUrl, notification, { ...options, signal }))
  } catch (error) {
    const reason = isInterrupt(error) ? 'it was stopped' : reasonOf(error)
    warn(`warning: NOTIFY_URL was not told about this build: ${reason}\n`)
  }
}
