import type { PipelineConfig } from '../base/config.ts'
import { reasonOf } from '../base/errors.ts'
import type { WebhookOptions } from '../publication/webhook.ts'
import { isInterrupt } from './failure.ts'
import { withInterrupt } from './interrupt.ts'
import { notificationOf } from './notification.ts'
import { readPublished } from './published.ts'
import type { BuildRecord } from './record-build.ts'

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
