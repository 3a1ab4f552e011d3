/** Returns the first bytes of a stream, at least `count` unless it has fewer. */
export async function firstBytes(bytes: AsyncGenerator<Buffer>, count: number): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0)
  while (head.length < count) {
    const { value, done } = await bytes.next()
    if (done) break
    head = head.length === 0 ? value : Buffer.concat([head, value])
  }
  return head
}

/** Passes the first bytes of a stream, and those that follow. */
export async function* concat(head: Buffer, tail: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  if (head.length > 0) yield head
  yield* tail
}
