import { hash } from 'node:crypto'

const [LEAF, NODE] = [Buffer.of(0), Buffer.of(1)]

/** The root of the Merkle tree (RFC 6962, section 2.1) of some SHA-256 hashes in hex, which are sorted first. */
export function merkleRoot(hashes: readonly string[]): string {
  let level = hashes.toSorted().map((each) => sha256(LEAF, Buffer.from(each, 'hex')))
  while (level.length > 1) level = parentsOf(level)
  return (level[0] ?? sha256()).toString('hex')
}

/** A node without a neighbor goes up as it is, which splits each tree at the greatest power of two. */
function parentsOf(level: readonly Buffer[]): Buffer[] {
  const parents: Buffer[] = []
  for (let position = 0; position < level.length; position += 2) {
    const [left, right] = level.slice(position, position + 2)
    if (left !== undefined) parents.push(right === undefined ? left : sha256(NODE, left, right))
  }
  return parents
}

function sha256(...parts: Buffer[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer')
}
