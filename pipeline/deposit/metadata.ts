import { prose } from '../base/prose.ts'
import { html } from '../contract/html.ts'
import type { Manifest } from '../contract/manifest.ts'
import { siteUrl } from '../contract/site-url.ts'
import { describeDataset } from '../release/documents/describe.ts'

export type RecordBody = ReturnType<typeof recordOf>

/**
 * The record of a release (https://inveniordm.docs.cern.ch/reference/metadata/). The address of its page is its
 * identifier: by it, a draft is found again whose id was never received.
 */
export function recordOf(manifest: Manifest) {
  const dataset = describeDataset(manifest)
  const { publisher, description, page, attribution, method, start_date, end_date } = dataset
  const identifiers = publisher.ror === undefined ? {} : { identifiers: [rorOf(publisher.ror)] }
  return {
    access: { record: 'public', files: 'public' },
    files: { enabled: true },
    metadata: {
      resource_type: { id: 'dataset' },
      creators: [{ person_or_org: { type: 'organizational', name: publisher.name, ...identifiers } }],
      title: dataset.title,
      publication_date: dataset.as_of.slice(0, 10),
      publisher: publisher.name,
      version: dataset.data_version,
      description: html`<p>${description}</p><p>${attribution}</p>`.text,
      additional_descriptions: [{ description: html`<p>${prose(method)}</p>`.text, type: { id: 'methods' } }],
      rights: [{ id: dataset.license.name.toLowerCase() }],
      languages: [{ id: 'eng' }],
      subjects: dataset.keywords.map((subject) => ({ subject })),
      dates: [{ date: `${start_date}/${end_date}`, type: { id: 'collected' }, description: 'The days of the rows' }],
      identifiers: [{ scheme: 'url', identifier: page }],
      related_identifiers: [
        { scheme: 'url', identifier: page, relation_type: { id: 'isidenticalto' }, resource_type: { id: 'dataset' } },
        { scheme: 'url', identifier: siteUrl(publisher, ''), relation_type: { id: 'isdocumentedby' } },
      ],
    },
  }
}

/** `https://ror.org/01bj3aw27` -> `01bj3aw27`, as the repository stores it. */
function rorOf(url: string): { scheme: string; identifier: string } {
  return { scheme: 'ror', identifier: url.slice(url.lastIndexOf('/') + 1) }
}
