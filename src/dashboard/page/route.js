/** The views, by the first segment of their address. */
const VIEWS = ['', 'limiter', 'client', 'in-force', 'events', 'processes']
/** Behind the name of a limiter, which has no slash: the view in which it is edited. */
const EDIT = '/edit'

/**
 * Returns what an address such as `#/limiter/api?range=24h` shows. A name that is not a view is the overview.
 */
export function readRoute(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [view = '', ...rest] = path.split('/')
  const params = new URLSearchParams(query)
  const named = rest.join('/')
  const isEdit = view === 'limiter' && named.endsWith(EDIT)
  const name = decode(isEdit ? named.slice(0, -EDIT.length) : named)
  const isKnown = VIEWS.includes(view) && (view !== 'limiter' || name !== '')
  return {
    view: isKnown ? (isEdit ? 'edit' : view) : '',
    name: isKnown ? name : '',
    range: params.get('range') === '24h' ? '24h' : '15min',
    yesterday: params.get('yesterday') === '1',
    state: params.get('state') ?? '',
    search: params.get('q') ?? '',
  }
}

/** Returns the address of a route. What is as it is by default is left out. */
export function addressOf({ view = '', name = '', range, yesterday, state, search }) {
  const params = new URLSearchParams()
  if (range === '24h') params.set('range', '24h')
  if (yesterday) params.set('yesterday', '1')
  if (state) params.set('state', state)
  if (search) params.set('q', search)
  const query = params.toString()
  const [first, last] = view === 'edit' ? ['limiter', EDIT] : [view, '']
  const path = view === '' ? '#/' : `#/${first}${name === '' ? '' : `/${encodeURIComponent(name)}`}${last}`
  return query === '' ? path : `${path}?${query}`
}

function decode(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a percent sign that a person typed
  }
}
