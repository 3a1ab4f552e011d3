import { copy } from './code.js'
import { byId } from './dom.js'

const line = `curl -s -o /dev/null -w '%{http_code}\\n' '${location.origin}/api/time?[1-25]'`
byId('curl').textContent = line
byId('copy-curl').addEventListener('click', ({ currentTarget }) => copy(line, currentTarget))
