/** Sends a request, and returns the status of its response. */
export async function statusAt(url: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(url, init)
  await response.text()
  return response.status
}

/** Sends requests at once. Returns how many got each status. */
export async function sendAtOnce(count: number, url: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  const send = async () => {
    const status = await statusAt(url)
    counts[status] = (counts[status] ?? 0) + 1
  }
  await Promise.all(Array.from({ length: count }, send))
  return counts
}
