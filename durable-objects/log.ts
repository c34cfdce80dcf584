/** One line of JSON an event: what an operator's log tools can search. */
export function log(event: string, fields: Record<string, unknown>): void {
  console.log(JSON.stringify({ event, ...fields }))
}
