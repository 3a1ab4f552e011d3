/** How the page sends requests: what a pattern is, and the times of its requests from `startMs` on. */
export const PATTERNS = {
  bursts: {
    note: 'Eight requests within a second, then three seconds of silence.',
    *times(startMs) {
      for (let burst = startMs; ; burst += 4000) yield* evenly(burst, 8, 120)
    },
  },
  steady: {
    note: 'Two requests a second: twice what the limit allows.',
    *times(startMs) {
      for (let at = startMs; ; at += 500) yield at
    },
  },
  border: {
    note: 'Ten requests just before a fixed window ends, and ten right after.',
    *times(startMs, borderMs) {
      let border = borderMs
      while (border - 900 < startMs) border += 10_000
      for (; ; border += 20_000) {
        yield* evenly(border - 900, 10, 75)
        yield* evenly(border + 100, 10, 75)
      }
    },
  },
  flood: {
    note: 'Twelve requests a second from a client that does not stop.',
    *times(startMs) {
      for (let at = startMs; ; at += 1000 / 12) yield at
    },
  },
}

function* evenly(fromMs, requests, everyMs) {
  for (let i = 0; i < requests; i++) yield fromMs + i * everyMs
}
