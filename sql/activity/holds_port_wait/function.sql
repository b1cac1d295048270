CREATE FUNCTION mart.holds_port_wait(
    kind text,
    interface text
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- A simulated transfer begins when it gets its port.
SELECT holds_port_wait.interface = 'nft' AND holds_port_wait.kind <> 'simulated'

$function$;
