/** Sends a request, and returns the status of its response. */
export async function statusAt(url: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(url, init)
  await response.text()
  return response.status
}

/** Sends requests at once. Returns how many got each status. */
export function sendAtOnce(count: number, url: string): Promise<Record<number, number>> {
  return countAtOnce(count, () => statusAt(url))
}

/** Sends requests at once. Returns how many got each status and source of their decision: `{ '429 local': 3 }`. */
export function decideAtOnce(count: number, url: string): Promise<Record<string, number>> {
  return countAtOnce(count, async () => {
    const response = await fetch(url)
    await response.text()
    return `${response.status} ${response.headers.get('x-decided-by')}`
  })
}

async function countAtOnce<K extends PropertyKey>(
  count: number,
  send: () => Promise<K>,
): Promise<Record<K, number>> {
  const counts = {} as Record<K, number>
  const sendOne = async () => {
    const outcome = await send()
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  await Promise.all(Array.from({ length: count }, sendOne))
  return counts
}
