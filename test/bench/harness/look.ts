/** The colors of a plot. */
export interface Look {
  /** `transparent` leaves the page's own to be seen. */
  readonly background: string
  readonly text: string
  readonly muted: string
  readonly rule: string
  /** Of headgate's figures, one for each series. */
  readonly ours: readonly [string, ...string[]]
  readonly peers: readonly [string, ...string[]]
}

/** For a page of any color: it has a background of its own. */
export const WHITE: Look = {
  background: '#fff',
  text: '#1f2937',
  muted: '#6b7280',
  rule: '#e5e7eb',
  ours: ['#1d4ed8', '#0891b2', '#7c3aed', '#0d9488'],
  peers: ['#ea580c', '#64748b', '#ca8a04', '#be185d'],
}

/**
 * For readers who prefer light pages, and dark ones. The dark plot has its own background: a page may be
 * white all the same.
 */
export const LOOKS = {
  light: { ...WHITE, background: 'transparent' },
  dark: {
    background: '#111827',
    text: '#e5e7eb',
    muted: '#9ca3af',
    rule: '#374151',
    ours: ['#60a5fa', '#22d3ee', '#a78bfa', '#2dd4bf'],
    peers: ['#fb923c', '#94a3b8', '#facc15', '#f472b6'],
  },
} as const satisfies Readonly<Record<string, Look>>
