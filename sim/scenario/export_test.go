package scenario

// What the schema takes from the parser.
var (
	LocationChanges = locationChanges
	Worlds          = worlds
	Releases        = releases
	Verbs           = verbs
	WriteVerbs      = writeVerbs
	Reasons         = reasons
	Methods         = methods
	Actions         = actions
	ActionPhases    = actionPhases
	OnceActions     = onceActions
	AfterCancels    = afterCancels
	Handshakes      = handshakes
	Resources       = resources
	PhasesOf        = phasesOf
	RuleNames       = ruleNames
)

// Reports is the pattern of a report's name.
const Reports = reports

// The parser's bounds.
const (
	MaxItems        = maxItems
	MaxScheduleName = maxScheduleName
)
